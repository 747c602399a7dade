"""A stack machine: an interpreter for small programs becomes one graph, and the programs are its data.

A list that grows and shrinks, `match` on the instruction, jumps, prints and errors with messages.
"""

import contextlib
import io

import numpy as np

import autograph as ag


class Op:
    """The instructions."""

    PUSH, ADD, SUB, MUL, DUP, SWAP, OVER, DROP, JUMP, JUMP_IF_ZERO, SHOW, HALT = range(12)


class MachineError(Exception):
    """The program did something that the machine cannot do."""


@ag.to_graph
def execute(program, value, fuel=10_000):
    """Runs a program, rows of (instruction, argument), on a stack that holds `value`; gives its last top."""
    stack = [value]
    counter = 0
    while fuel > 0:
        fuel -= 1
        instruction, argument = int(program[counter, 0]), int(program[counter, 1])
        counter += 1
        match instruction:
            case Op.PUSH:
                stack.append(argument)
            case Op.ADD | Op.SUB | Op.MUL:
                if len(stack) < 2:
                    raise MachineError(f"line {counter}: two values are needed, there are {len(stack)}")
                right = stack.pop()
                left = stack.pop()
                if instruction == Op.ADD:
                    stack.append(left + right)
                elif instruction == Op.SUB:
                    stack.append(left - right)
                else:
                    stack.append(left * right)
            case Op.DUP:
                stack.append(stack[-1])
            case Op.SWAP:
                stack[-1], stack[-2] = stack[-2], stack[-1]
            case Op.OVER:
                stack.append(stack[-2])
            case Op.DROP:
                stack.pop()
            case Op.JUMP:
                counter = argument
            case Op.JUMP_IF_ZERO:
                if stack.pop() == 0:
                    counter = argument
            case Op.SHOW:
                print("top of", len(stack), "is", stack[-1])
            case Op.HALT:
                return stack.pop()
            case _:
                raise MachineError(f"line {counter}: no instruction has the number {instruction}")
    raise MachineError("out of fuel")


FACTORIAL = np.array(
    [
        (Op.PUSH, 1),  # n result
        (Op.OVER, 0),  # n result n
        (Op.JUMP_IF_ZERO, 10),  # n result
        (Op.OVER, 0),  # n result n
        (Op.MUL, 0),  # n result*n
        (Op.SHOW, 0),
        (Op.SWAP, 0),  # result*n n
        (Op.PUSH, 1),
        (Op.SUB, 0),  # result*n n-1
        (Op.JUMP, 13),
        (Op.SWAP, 0),
        (Op.DROP, 0),
        (Op.HALT, 0),
        (Op.SWAP, 0),  # n-1 result*n
        (Op.JUMP, 1),
    ]
)

SUM_OF_SQUARES = np.array(
    [
        (Op.PUSH, 0),  # n sum
        (Op.OVER, 0),
        (Op.JUMP_IF_ZERO, 12),
        (Op.OVER, 0),  # n sum n
        (Op.DUP, 0),
        (Op.MUL, 0),  # n sum n²
        (Op.ADD, 0),  # n sum+n²
        (Op.SWAP, 0),
        (Op.PUSH, 1),
        (Op.SUB, 0),
        (Op.SWAP, 0),  # n-1 sum+n²
        (Op.JUMP, 1),
        (Op.HALT, 0),
    ]
)

NO_SECOND_VALUE = np.array([(Op.ADD, 0), (Op.HALT, 0)])
UNKNOWN = np.array([(77, 0)])
ENDLESS = np.array([(Op.JUMP, 0)])


def outcome(function, program, value):
    """The result or the error of a run, and what it printed."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            result = function(program, value, 500)
        except MachineError as error:
            result = f"{type(error).__name__}: {error}"
    return result, text.getvalue()


def main():
    for name, program, value, wanted in (
        ("factorial", FACTORIAL, 5, 120),
        ("factorial", FACTORIAL, 0, 1),
        ("sum of squares", SUM_OF_SQUARES, 10, 385),
        ("add", NO_SECOND_VALUE, 1, "MachineError: line 1: two values are needed, there are 1"),
        ("unknown", UNKNOWN, 1, "MachineError: line 1: no instruction has the number 77"),
        ("endless", ENDLESS, 1, "MachineError: out of fuel"),
    ):
        as_graph = outcome(execute, program, value)
        with ag.eager():
            as_eager = outcome(execute, program, value)
        assert as_graph == as_eager == outcome(execute.python_function, program, value)
        assert as_graph[0] == wanted, as_graph
        print(f"{name}({value}) = {as_graph[0]}")


if __name__ == "__main__":
    main()
