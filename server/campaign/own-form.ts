import { readText } from '#server/campaign/campaign-folder.ts';
import { readWords, type ReadWords } from '#server/campaign/words-file.ts';
import { Form, reporting, type FormMessages, type OwnForm } from '#shared/campaign-schema.ts';

const FILE = 'form.yaml';

/**
 * @param language of the page, such as `pt-BR`
 * @returns no questions if the file is missing or contains only comments
 */
export function readForm(folder: string, language: string): ReadWords<OwnForm> {
  const defaults = MESSAGES[mainLanguage(language)] ?? ENGLISH;
  const text = readText(folder, FILE);
  if (text === null || (text.type === 'text' && isCommentsOnly(text.text)))
    return { type: 'words', words: { fields: [], messages: defaults } };
  const result = readWords(folder, FILE, formIn(language));
  if (result.type === 'mistakes') return result;
  const { fields = [], messages } = result.words;
  return { type: 'words', words: { fields, messages: { ...defaults, ...messages } as FormMessages } };
}

const isCommentsOnly = (text: string): boolean => text.split('\n').every((line) => /^\s*(?:#|$)/.test(line));

const mainLanguage = (tag: string): string => tag.split('-', 1)[0]?.toLowerCase() ?? '';

const formIn = (language: string) =>
  Form.check(
    reporting(function* ({ fields = [], messages = {} }) {
      if (fields.length === 0 || mainLanguage(language) in MESSAGES) return;
      const missing = (Object.keys(ENGLISH) as (keyof FormMessages)[]).filter(
        (name) => messages[name] === undefined,
      );
      if (missing.length > 0)
        yield {
          entry: ['fields'],
          message: `need error messages in the language of the page (${language}). Add a group "messages:" with ${missing.join(', ')}`,
        };
    }),
  );

const ENGLISH: FormMessages = {
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
const MESSAGES: Readonly<Record<string, FormMessages>> = { en: ENGLISH, de: GERMAN };
