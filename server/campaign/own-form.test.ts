import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { parse } from 'yaml';

import { readCampaign } from '#server/campaign/campaign.ts';
import { campaignWarnings } from '#server/campaign/campaign-warnings.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { FIELD_KINDS, Form } from '#shared/campaign-schema.ts';
import { changeFiles, mistakesWith, withCampaignCopy, withChangedCampaign } from '#testing/campaign-copy.ts';
import { words } from '#testing/words.ts';

const inLanguage = (language: string) => (site: string) =>
  site.replace(/^language: .*$/m, `language: ${language}`);

const mistakesIn = (form: string, language = 'en'): readonly string[] =>
  mistakesWith({ 'site.yaml': inLanguage(language), 'form.yaml': form });

const formIn = (folder: string) => {
  const result = readCampaign(folder);
  assert(result.type === 'campaign', JSON.stringify(result));
  return result.campaign.form;
};

it('a missing or empty form.yaml adds no custom question', () =>
  withCampaignCopy((folder) => {
    assert.deepEqual(formIn(folder).fields, []);
    for (const text of ['', '# fields:\n#   - id: phone\n', '\n  # Nothing\r\n\n']) {
      changeFiles(folder, { 'form.yaml': text });
      assert.deepEqual(formIn(folder).fields, []);
      assert.deepEqual(campaignWarnings(folder), []);
    }
  }));

it('the commented example in form.yaml is valid once uncommented', () => {
  for (const place of ['campaign', 'examples/german']) {
    const text = readFileSync(path.join(PROJECT_FOLDER, place, 'form.yaml'), 'utf8');
    withChangedCampaign({ 'form.yaml': text }, (folder) => {
      assert.deepEqual(formIn(folder).fields, []);
      changeFiles(folder, { 'form.yaml': text.slice(text.indexOf('# fields:')).replaceAll(/^# /gm, '') });
      assert.equal(formIn(folder).fields.length, 3);
    });
  }
});

it('form.yaml accepts every entry described in docs/customising.md', () => {
  const guide = readFileSync(path.join(PROJECT_FOLDER, 'docs', 'customising.md'), 'utf8');
  const [, example = ''] = /```yaml\n(fields:\n[^`]*)```/.exec(guide) ?? [];
  assert.deepEqual(mistakesIn(example), []);
  const shown = Form.parse(parse(example));
  assert.deepEqual(new Set(shown.fields?.map(({ kind }) => kind)), new Set(FIELD_KINDS));
  for (const kind of FIELD_KINDS)
    assert.match(guide, new RegExp(`^\\| \`${kind}\` `, 'm'), `docs/customising.md explains ${kind}`);
  for (const entry of words(`
      id label kind required hint maxLength autocomplete options properties`))
    assert.match(guide, new RegExp(`^\\| \`${entry}\``, 'm'), `docs/customising.md explains ${entry}`);
});

it('form.yaml must contain its messages unless the page is in English or German', () => {
  withCampaignCopy((folder) => {
    assert.equal(formIn(folder).messages.required, 'Please answer this question');
    changeFiles(folder, {
      'form.yaml':
        'fields:\n  - { id: phone, label: Phone, kind: telephone }\nmessages:\n  required: Do answer\n',
    });
    assert.equal(formIn(folder).messages.required, 'Do answer');
    assert.equal(formIn(folder).messages.choice, 'Please choose from the list');
    changeFiles(folder, { 'site.yaml': inLanguage('de-AT') });
    assert.equal(formIn(folder).messages.choice, 'Bitte wählen Sie aus der Liste');
  });
  const french = 'fields:\n  - { id: phone, label: Téléphone, kind: telephone }\n';
  assert.deepEqual(mistakesIn(french, 'fr'), [
    'campaign/form.yaml:1: fields: need error messages in the language of the page (fr). Add a group "messages:" with choose, required, tooLong, notPlain, telephone, number, url, choice, changed.',
  ]);
  assert.deepEqual(mistakesIn('# fields:\n', 'fr'), []);
});

it('all countries fit into a single choice', () => {
  const countries = Array.from({ length: 249 }, (_, at) => `A country of some length, number ${at}`);
  const field = `{ id: land, label: Land, kind: choice, options: ${JSON.stringify(countries)} }`;
  assert.deepEqual(mistakesIn(`fields:\n  - ${field}\n`), []);
});

it('a custom question is refused if an import would read its ID or label as another column', () => {
  const ask = (id: string, label: string) =>
    mistakesIn(`fields:\n  - { id: ${id}, label: ${label}, kind: text }\n`);
  for (const id of ['mail', 'organization', 'nachname', 'opt_in_date'])
    assert.deepEqual(ask(id, 'A'), [
      'campaign/form.yaml:2: fields 1, id: is a reserved name. Choose another name.',
    ]);
  for (const label of ['E-Mail', 'Work email', 'Organisation', 'Status', 'First_Name', 'Opt-in time'])
    assert.deepEqual(ask('a', label), [
      'campaign/form.yaml:2: fields 1, label: is the heading of another column in imports. Choose another label.',
    ]);
  assert.deepEqual(ask('work_place', 'Mail provider'), []);
});

for (const [form, ...mistakes] of [
  [
    'fields:\n  - id: phone\n    label: Phone\n    kind: telefone\n',
    ':4: fields 1, kind: must be one of text, telephone, number, url, choice, choices, long text (did you mean telephone?).',
  ],
  [
    'fields:\n  - id: phone\n    kind: telephone\n    required: "yes"\n',
    ':2: fields 1, label: is missing.',
    ':4: fields 1, required: must be true or false.',
  ],
  [
    'fields:\n  - { id: Phone, label: A, kind: text }\n  - { id: company, label: B, kind: text }\n',
    ':2: fields 1, id: must begin with a lower-case letter and contain only lower-case letters, digits and _, such as job_title.',
    ':3: fields 2, id: is a reserved name. Choose another name.',
  ],
  [
    'fields:\n  - { id: a, label: A, kind: text, properties: { hubspot: P } }\n  - { id: a, label: a, kind: text, properties: { hubspot: P } }\n',
    ':3: fields 2, id: a is already used by another field. Choose another id.',
    ':3: fields 2, label: a is already used by another field. Choose another label.',
    ':3: fields 2, properties.hubspot: P is already used for another field. Choose another property.',
  ],
  [
    'fields:\n  - { id: a, label: A, kind: choice }\n  - { id: b, label: B, kind: text, options: [X, Y] }\n  - { id: c, label: C, kind: choices, options: [X; Y, Z, Z] }\n',
    ':2: fields 1, kind: needs options. Add a list of answers to choose from.',
    ':3: fields 2, options: only apply to the kinds choice and choices. Remove the options, or change the kind.',
    ':4:49: fields 3, options 1: must not contain a semicolon, which separates several answers.',
  ],
  [
    'fields:\n  - { id: a, label: A, kind: long text, maxLength: 2000 }\n  - { id: b, label: B, kind: long text, maxLength: 2000 }\n',
    ':3:5: fields 2: the answers up to this field may have 4000 characters, but a form accepts only 3000. Set a smaller maxLength, or ask fewer questions.',
  ],
  // The page is built in one year and sends this text in another.
  [
    'fields:\n  - { id: a, label: "Budget {year}", kind: choice, options: ["In {year}", Later], properties: { hubspot: "Y {year}" } }\n',
    ':2: fields 1, label: there is no {year}. This text has no placeholders.',
    ':2:66: fields 1, options 1: there is no {year}. This text has no placeholders.',
    ':2: fields 1, properties.hubspot: there is no {year}. This text has no placeholders.',
  ],
] as const)
  it(`a mistake in form.yaml is reported by line: ${mistakes.map((mistake) => mistake.replace(/^\S+: /, '')).join(' ')}`, () => {
    const found = mistakesIn(form);
    for (const mistake of mistakes)
      assert.ok(found.includes(`campaign/form.yaml${mistake}`), `${mistake}\n${found.join('\n')}`);
  });
