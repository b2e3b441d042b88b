// What is said about an answer where form.yaml does not say it: so that a marketer can ask a question without writing nine sentences.
import type { FormMessages } from '#shared/campaign-schema.ts';

export const ENGLISH: FormMessages = {
  choose: 'Please choose',
  required: 'Please answer this question',
  tooLong: 'Please use at most {maximum} characters',
  notPlain: 'Please use plain text',
  telephone: 'Please enter a valid telephone number, such as +44\u00A020\u00A07946\u00A00018',
  number: 'Please enter a number in digits, such as 1500',
  url: 'Please enter a valid web address, such as https://example.com',
  choice: 'Please choose from the list',
  changed: 'This form has changed since you opened it. Please reload this page and send it again.',
};
const GERMAN: FormMessages = {
  choose: 'Bitte wählen',
  required: 'Bitte beantworten Sie diese Frage',
  tooLong: 'Bitte höchstens {maximum} Zeichen',
  notPlain: 'Bitte nur einfachen Text',
  telephone: 'Bitte geben Sie eine gültige Telefonnummer ein, zum Beispiel +49\u00A030\u00A0901820',
  number: 'Bitte geben Sie eine Zahl in Ziffern ein, zum Beispiel 1500',
  url: 'Bitte geben Sie eine gültige Webadresse ein, zum Beispiel https://example.com',
  choice: 'Bitte wählen Sie aus der Liste',
  changed:
    'Dieses Formular hat sich geändert, seit Sie es geöffnet haben. Bitte laden Sie die Seite neu und senden Sie es noch einmal.',
};
/** By the first subtag of a language. */
export const MESSAGES: Readonly<Record<string, FormMessages>> = { en: ENGLISH, de: GERMAN };
