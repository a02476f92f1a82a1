package dev.postrider;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;

/** What a client was made with, checked. */
final class Options {
  /** What is longer is as good as this, and would be too much for some clocks. */
  private static final Duration LONGEST_TIMEOUT = Duration.ofDays(365);

  final String apiKey;
  final String baseUrl;
  final int maxRetries;
  final Duration timeout;

  Options(String apiKey, String baseUrl, int maxRetries, Duration timeout) {
    this.apiKey = checkedKey(apiKey);
    this.baseUrl = checkedAddress(baseUrl);
    if (maxRetries < 0) {
      throw Failure.invalidOption("The number of retries is negative; 0 switches them off.");
    }
    if (timeout == null || timeout.compareTo(Duration.ZERO) <= 0) {
      throw Failure.invalidOption("The timeout must be longer than 0.");
    }
    this.maxRetries = maxRetries;
    this.timeout = timeout.compareTo(LONGEST_TIMEOUT) < 0 ? timeout : LONGEST_TIMEOUT;
  }

  private static String checkedKey(String given) {
    String key = given == null ? "" : given.strip();
    if (key.isEmpty()) {
      throw new PostriderException(
          Failure.of(
              "missing_api_key", "There is no API key: pass it to the builder or set POSTRIDER_API_KEY."));
    }
    if (!key.chars().allMatch(c -> c > ' ' && c <= '~')) {
      throw Failure.invalidOption(
          "The API key has characters that no key has; check where it comes from.");
    }
    return key;
  }

  private static String checkedAddress(String given) {
    String address = given == null ? "" : given.strip();
    if (address.isEmpty()) {
      throw new PostriderException(
          Failure.of(
              "missing_base_url", "There is no base URL: pass it to the builder or set POSTRIDER_BASE_URL."));
    }
    URI uri = parse(address);
    boolean isHttp = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
    if (uri.getRawUserInfo() != null) {
      throw Failure.invalidOption("The base URL must not have a user name or password in it.");
    }
    if (!isHttp || uri.getHost() == null) {
      throw noAddress();
    }
    if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw Failure.invalidOption("The base URL must not have a query or fragment.");
    }
    return address.replaceAll("/+$", "");
  }

  private static URI parse(String address) {
    try {
      return new URI(address);
    } catch (URISyntaxException e) {
      throw noAddress(); // without the cause, which repeats the address with whatever is in it
    }
  }

  private static PostriderException noAddress() {
    return Failure.invalidOption("The base URL must look like https://api.example.com.");
  }
}
