# $1: file with the body as it arrived; $2: the header; $3: the secret. Says so and ends with 0 when it is genuine.
seconds=$(printf %s "$2" | cut -d, -f1 | cut -d= -f2)
expected=$( (printf %s. "$seconds"; cat "$1") | openssl dgst -sha256 -hmac "$3" -r | cut -d' ' -f1)
age=$(($(date +%s) - seconds))
printf %s "$2" | tr , '\n' | grep -qx "v1=$expected" && [ "${age#-}" -le 300 ] && echo genuine
