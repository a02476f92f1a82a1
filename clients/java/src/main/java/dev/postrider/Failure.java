package dev.postrider;

/** What all exceptions are made of. */
final class Failure {
  final int status;
  final String code;
  final String message;
  final String requestId;
  final Integer index;
  final Throwable cause;

  /** The answer is null without one. */
  private Failure(Answer answer, String code, String message, Throwable cause) {
    this.status = answer == null ? 0 : answer.status();
    this.code = code;
    this.message = message;
    this.requestId = answer == null ? null : answer.requestId();
    this.index = answer == null ? null : answer.index();
    this.cause = cause;
  }

  /** Without an answer. */
  static Failure of(String code, String message) {
    return new Failure(null, code, message, null);
  }

  static Failure of(String code, String message, Throwable cause) {
    return new Failure(null, code, message, cause);
  }

  static Failure of(Answer answer, String code, String message) {
    return new Failure(answer, code, message, null);
  }

  static PostriderException invalidOption(String message) {
    return new PostriderException(of("invalid_option", message));
  }

  static PostriderException invalidArgument(String message) {
    return new PostriderException(of("invalid_argument", message));
  }
}
