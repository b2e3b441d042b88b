// The HTTP status of each x-error-code. The body is a text/plain sentence that tells the reader what to do.

export const DESK_ERRORS = {
  'invalid-input': 400,
  'malformed-body': 400,
  'wrong-code': 400,
  'wrong-passkey': 400,
  'no-session': 401,
  'may-not': 403,
  'wrong-origin': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  'body-too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'cannot-be-done': 422,
  'too-many-requests': 429,
  'too-many-tries': 429,
  'internal-error': 500,
  unavailable: 503,
} as const satisfies Record<string, number>;
export type DeskErrorCode = keyof typeof DESK_ERRORS;
