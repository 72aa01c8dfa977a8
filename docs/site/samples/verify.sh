# $1: file with the raw body; $2: signature header; $3: secret. Prints "genuine" and exits with 0 if the signature is valid.
seconds=$(printf %s "$2" | cut -d, -f1 | cut -d= -f2)
expected=$( (printf %s. "$seconds"; cat "$1") | openssl dgst -sha256 -hmac "$3" -r | cut -d' ' -f1)
age=$(($(date +%s) - seconds))
printf %s "$2" | tr , '\n' | grep -qx "v1=$expected" && [ "${age#-}" -le 300 ] && echo genuine
