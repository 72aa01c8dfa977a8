<?php

/** Returns whether a delivery was signed with the endpoint's secret at most five minutes ago. */
function verify(string $body, string $signature, string $secret): bool
{
    $others = explode(',', $signature);
    $seconds = substr(array_shift($others), 2);
    $expected = hash_hmac('sha256', "$seconds.$body", $secret);
    foreach ($others as $each) {
        if (str_starts_with($each, 'v1=') && hash_equals($expected, substr($each, 3))) {
            return abs(time() - (int) $seconds) <= 300;
        }
    }
    return false;
}
