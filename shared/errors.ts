// Every error the API can answer: its status and the one sentence that the visitor's toast shows. The code
// travels in the x-error-code header, for programs.

type ApiErrorEntry = { readonly status: number; readonly sentence: string };

export const API_ERRORS = {
  'invalid-input': { status: 400, sentence: 'Some of what you typed cannot be used. Please check the form.' },
  'malformed-body': { status: 400, sentence: 'The request could not be read. Send one JSON object.' },
  'wrong-code': {
    status: 400,
    sentence: 'That code is wrong or no longer valid. Check the newest email from us, or ask for a new code.',
  },
  'no-session': { status: 401, sentence: 'Please verify your email address to read the guide.' },
  'wrong-origin': {
    status: 403,
    sentence: 'This request came from another site. Please use the form on this page.',
  },
  'not-found': { status: 404, sentence: 'There is nothing at this address. Please check the path.' },
  'method-not-allowed': {
    status: 405,
    sentence: 'This address does not take that method. The Allow header names the ones it takes.',
  },
  'request-timeout': {
    status: 408,
    sentence: 'The request took too long to arrive. Please check your connection and try again.',
  },
  'page-outdated': {
    status: 409,
    sentence:
      'The words beside the checkbox have changed since you opened this page. Please reload this page and send the form again.',
  },
  'precondition-failed': {
    status: 412,
    sentence: 'The file is not the one you have begun with. Please ask for it from the beginning.',
  },
  'body-too-large': { status: 413, sentence: 'That is more text than this form takes. Please shorten it.' },
  'uri-too-long': { status: 414, sentence: 'That address is too long. Please check the link.' },
  'unsupported-media-type': { status: 415, sentence: 'Send the request as application/json in UTF-8.' },
  'email-domain-refused': {
    status: 400,
    sentence: 'We cannot send a code to an address at this provider. Please use your work email.',
  },
  'proof-of-work-required': {
    status: 428,
    sentence: 'We are being asked for very many codes. Please reload this page and send the form again.',
  },
  'range-not-satisfiable': {
    status: 416,
    sentence: 'The file has no such part. Please ask for it from the beginning.',
  },
  'too-many-requests': {
    status: 429,
    sentence: 'Too many requests came from your network. Please try again {when}.',
  },
  'too-many-codes': {
    status: 429,
    sentence: 'We have already sent several codes to this address. Please try again {when}.',
  },
  'too-many-tries': {
    status: 429,
    sentence: 'Too many wrong codes were entered. Please ask for a new code {when}.',
  },
  'internal-error': {
    status: 500,
    sentence: 'Something went wrong on our side. Please try again in a minute.',
  },
  'mail-backlog': {
    status: 503,
    sentence: 'We cannot send codes fast enough at the moment. Please send the form again {when}.',
  },
  unavailable: {
    status: 503,
    sentence: 'We cannot take this request at the moment. Please try again in a minute.',
  },
} as const satisfies Record<string, ApiErrorEntry>;

export type ApiErrorCode = keyof typeof API_ERRORS;

/** The response header that carries an {@link ApiErrorCode}. */
export const ERROR_CODE_HEADER = 'x-error-code';
