/** The status of each error. Programs read the code in x-error-code; the toast shows the operator's sentence. */
export const API_ERRORS = {
  'invalid-input': 400,
  'malformed-body': 400,
  'wrong-code': 400,
  'no-session': 401,
  'wrong-signature': 401,
  'wrong-origin': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  'page-outdated': 409,
  'body-too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'email-domain-refused': 400,
  'proof-of-work-required': 428,
  'range-not-satisfiable': 416,
  'too-many-requests': 429,
  'too-many-codes': 429,
  'too-many-tries': 429,
  'too-many-tries-without-cookies': 429,
  'internal-error': 500,
  'mail-backlog': 503,
  unavailable: 503,
} as const satisfies Record<string, number>;

export type ApiErrorCode = keyof typeof API_ERRORS;

export const ERROR_CODE_HEADER = 'x-error-code';

/** Names the field that the error concerns, if any. The form shows the sentence there too. */
export const ERROR_FIELD_HEADER = 'x-error-field';
