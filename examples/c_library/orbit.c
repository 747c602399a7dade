/* Calls the function of orbit.py: a year on the Earth's orbit, and a call that fails. */
#include <stdio.h>

#include "orbit.h"

int main(void) {
    double place[2] = {1.0, 0.0}, speed[2] = {0.0, 6.283185307179586};
    double *path, change;
    int64_t shape[2];
    int status = orbit(place, speed, 1.0, 1000, &path, shape, &change);
    if (status) {
        fprintf(stderr, "%s\n", orbit_error(status));
        return 1;
    }
    printf("%lld places; after a quarter of a year: %.3f %.3f\n", (long long)shape[0], path[498], path[499]);
    printf("at the end: %.3f %.3f; the energy has changed by %.0e\n", place[0], place[1], change);
    orbit_free(path);
    status = orbit(place, speed, 1.0, 0, &path, shape, &change);
    printf("without steps: %s\n", orbit_error(status));
    return status == 0;
}
