import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { visibleWords } from '#testing/visible-words.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');

/** Strings that look like words, and the reason why visitors never see them. */
const NO_WORDS: Readonly<Record<string, string>> = {
  Newsreader: 'the name of a font, in web/boot.ts',
  Display: 'the name of a font, in web/boot.ts',
  'Hanken Grotesk': 'the name of a font, in web/boot.ts',
  'long text': 'a kind of answer, in form.yaml',
  Sample: 'an invented answer, for the operator to look at a mail or a webhook',
  'A first line. A second line.': 'the same',
  'Sitemap: {}/sitemap.xml': 'robots.txt, in web/document.ts',
};

describe('words of the page', () => {
  it('web/ and shared/ contain no words for visitors', () => {
    const files = globSync(['web/**/*.{ts,tsx}', 'shared/*.ts'], {
      cwd: PROJECT_FOLDER,
      exclude: [
        '**/*.test.ts',
        '**/*.d.ts',
        // Shown to the operator.
        'shared/campaign-schema.ts',
        'shared/colours.ts',
        'shared/import-headings.ts',
        'shared/tools.ts',
        'shared/words.ts',
        // Shown to the operator by a visit counter.
        'web/analytics/counters.ts',
        'web/verification/mail-providers.ts',
      ],
    });
    assert.ok(files.length > 50, 'the files were found');
    const left = files.flatMap((file) =>
      visibleWords(file, readFileSync(path.join(PROJECT_FOLDER, file), 'utf8'))
        .filter(({ text }) => !(text in NO_WORDS))
        .map(({ line, text }) => `${file}:${line} ${text}`),
    );
    assert.deepEqual(left, []);
  });

  const foundIn = (code: string) => visibleWords('part.tsx', code).map(({ text }) => text);

  it('the check of web/ and shared/ finds words wherever they could appear', () => {
    const cases: readonly (readonly [code: string, ...words: string[]])[] = [
      ['const a = <p>Hello</p>;', 'Hello'],
      ["const a = <p>{locked ? 'Ended' : open && `again ${n}`}</p>;", 'Ended', 'again {}'],
      ['const a = <b aria-label="close" />;', 'close'],
      ['const a = <b alt={open ? `digit ${n}` : picture} />;', 'digit {}'],
      ["const a = <b title={'tip' + n} />;", 'tip'],
      ["const a = <b onClick={() => toasts.add({ title: 'oh', text: words })} />;", 'oh'],
      ["const a = () => 'You can ask now.';", 'You can ask now.'],
      ['const a = (n: number) => `Resend in ${n}`;', 'Resend in {}'],
      ["const a = pending ? 'Sending...' : 'Send';", 'Sending...', 'Send'],
      ["const a = z.literal(true, { error: 'You must agree' });", 'You must agree'],
      ['const a = `<html><title>${x}</title><p>Look here</p></html>`;', '{} Look here'],
    ];
    for (const [code, ...words] of cases) assert.deepEqual(foundIn(code), words, code);
  });

  it('the check of web/ and shared/ ignores names, types, styles, URLs and our own errors', () => {
    const cases = [
      "import a from 'some where';",
      "type A = 'code requested';",
      "const a = { type: 'code requested' };",
      "const a = key === 'Backspace';",
      "switch (a) { case 'history moved': break; }",
      '// Some words\nconst a = 1;',
      "throw new Error('Something is wrong.');",
      'const a = <b className="two words" sizes="(min-width: 1px) 30rem, 44vw" aria-hidden />;',
      'const a = <b className={`${styles.a} ${styles.b}`}>{words.title}</b>;',
      "const a = [`/media/hero-${n}.avif ${n}w`, 'x-error-code'];",
    ];
    for (const code of cases) assert.deepEqual(foundIn(code), [], code);
  });
});
