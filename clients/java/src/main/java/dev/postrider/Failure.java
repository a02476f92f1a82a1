package dev.postrider;

/** What all exceptions are made of. */
final class Failure {
  final int status;
  final String code;
  final String message;
  final String requestId;
  final Throwable cause;

  private Failure(int status, String code, String message, String requestId, Throwable cause) {
    this.status = status;
    this.code = code;
    this.message = message;
    this.requestId = requestId;
    this.cause = cause;
  }

  /** Without an answer. */
  static Failure of(String code, String message) {
    return new Failure(0, code, message, null, null);
  }

  static Failure of(String code, String message, Throwable cause) {
    return new Failure(0, code, message, null, cause);
  }

  static Failure of(Answer answer, String code, String message) {
    return new Failure(answer.status(), code, message, answer.requestId(), null);
  }

  static PostriderException invalidOption(String message) {
    return new PostriderException(of("invalid_option", message));
  }

  static PostriderException invalidArgument(String message) {
    return new PostriderException(of("invalid_argument", message));
  }
}
