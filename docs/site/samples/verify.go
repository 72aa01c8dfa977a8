package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
)

// Verify reports whether a delivery was signed with the endpoint's secret at most five minutes ago.
func Verify(body []byte, signature, secret string) bool {
	parts := strings.Split(signature, ",")
	stamp := strings.TrimPrefix(parts[0], "t=")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, each := range parts[1:] {
		given, err := hex.DecodeString(strings.TrimPrefix(each, "v1="))
		if err == nil && strings.HasPrefix(each, "v1=") && hmac.Equal(expected, given) {
			return true
		}
	}
	return false
}
