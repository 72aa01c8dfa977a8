import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Verify {
    /** Returns whether a delivery was signed with the endpoint's secret at most five minutes ago. */
    public static boolean verify(byte[] body, String signature, String secret) throws GeneralSecurityException {
        String[] parts = signature.split(",");
        String seconds = parts[0].substring(2);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        mac.update((seconds + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(StandardCharsets.UTF_8);
        boolean signed = false;
        for (String each : parts) {
            byte[] given = each.replaceFirst("^v1=", "").getBytes(StandardCharsets.UTF_8);
            signed |= each.startsWith("v1=") && MessageDigest.isEqual(expected, given);
        }
        return signed && Math.abs(Instant.now().getEpochSecond() - Long.parseLong(seconds)) <= 300;
    }
}
