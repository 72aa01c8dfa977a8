require "openssl"

# Returns whether a delivery was signed with the endpoint's secret at most five minutes ago.
def verify(body, signature, secret)
  first, *others = signature.split(",")
  seconds = first.delete_prefix("t=")
  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{seconds}.#{body}")
  given = others.select { |each| each.start_with?("v1=") }.map { |each| each.delete_prefix("v1=") }
  signed = given.any? { |each| OpenSSL.secure_compare(expected, each) }
  signed && (Time.now.to_i - seconds.to_i).abs <= 300
end
