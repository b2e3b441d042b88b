// `npm run check:english`: counts turns of phrase that read like a translation, in comments, test titles, sentences and documents.
// A higher count fails; a lower count must be written here, so it never rises again. `--show NAME` lists the places of one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

type Phrase = {
  readonly pattern: RegExp;
  /** How often it occurs now; many are not mistakes. */
  readonly count: number;
  readonly instead: string;
};

const PHRASES: Readonly<Record<string, Phrase>> = {
  'is-no': {
    pattern: /\b(?:is|are|was|were) (?:no (?!longer|more\b|less\b|other\b|doubt\b|one\b)[a-z]+|none\b)/g,
    count: 15,
    instead: 'negate the verb: "is not a file"',
  },
  'who-without-noun': {
    pattern:
      /(?:(?:^|[.;:] )(?:Who|Whom|Whose) (?!is |does |are |can |was )|\b(?:of|to|finds|refuses|tells) who (?:is|was|has)\b)/g,
    count: 0,
    instead: 'name the person: "visitors who"',
  },
  'what-as-noun': {
    pattern: /\bwhat (?:is|was|stands?|comes?|goes|makes?|has|it|the|a) /g,
    count: 10,
    instead: 'name the thing: "queued mail" for "what waits"',
  },
  'that-was-ed': {
    pattern: /\b\w+ (?:that|who|which) (?:is|was|are|were) (?:not )?\w+(?:ed|en|wn)\b/g,
    count: 4,
    instead: 'adjective before noun: "hidden columns"',
  },
  'stand-lie': {
    pattern: /\b(?:stands?|stood|lies)\b(?! (?:for|out|by)\b)/g,
    count: 1,
    instead: 'use "is", or an exact verb',
  },
  'prep-which': {
    pattern: /\b(?:of|to|by|with|from|in) (?:which|whom|whose)\b/g,
    count: 4,
    instead: 'split the sentence',
  },
  'alone=only': {
    pattern: /\b(?!leave|leaves|left|stand|stands)[a-z]+ alone\b/g,
    count: 0,
    instead: 'only',
  },
  'behind=after': {
    pattern: /\bbehind\b(?! (?:a |the |its |your )?(?:proxy|nginx|caddy|balancer|firewall|cdn))/g,
    count: 7,
    instead: 'after',
  },
  beside: { pattern: /\bbeside\b/g, count: 2, instead: 'next to, or during' },
  'of-its-own': {
    pattern: /\bof (?:its|their|our|your|his|her) own\b|\bof (?:ours|yours|theirs)\b/g,
    count: 0,
    instead: '"its own" before the noun',
  },
  'in-place-of': {
    pattern: /\bin (?:the )?place of\b|\btakes? the place\b/g,
    count: 0,
    instead: 'replace, instead of',
  },
  'private words': {
    pattern: /\b(?:anew|mend(?:s|ed|ing)?|slips?|deeds?|fates?)\b/g,
    count: 0,
    instead: 'again, fix, mistake, action, status',
  },
  'some-ten': { pattern: /\bsome (?:\d|ten|twenty|thirty|hundred|thousand)/g, count: 0, instead: 'about' },
  'if-not-given': {
    pattern: /\bif not (?:given|asked|told)\b|\bis told\b|\bare told\b|\bso many\b/g,
    count: 0,
    instead: 'by default',
  },
  'fronted-that': {
    pattern: /(?:^|\. )That \w+ [^.]* (?:is|was|could)\b/g,
    count: 0,
    instead: 'subject, verb, object',
  },
  'network address': { pattern: /\bnetwork address/g, count: 0, instead: 'IP address' },
};

const NOT_OURS = /^(?:campaign|examples|testing\/campaign)\/|^CHANGELOG|^checks\/english\.ts$/;
const COMMENT = /(?:^\s*(?:\/\/|\/?\*\*?)|\s\/\/)\s?(.*)$/;
const LONG_STRING = /'((?:[^'\\\n]|\\.){24,})'|`([^`\n]{24,})`/g;

const shown = process.argv[process.argv.indexOf('--show') + 1];
const counts = Object.fromEntries(Object.keys(PHRASES).map((name) => [name, 0]));
for (const file of execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')) {
  if (!/\.(?:tsx?|js|md|css)$/.test(file) || NOT_OURS.test(file) || !existsSync(file)) continue;
  for (const [line, text] of textsIn(file, readFileSync(file, 'utf8'))) {
    for (const [name, { pattern }] of Object.entries(PHRASES)) {
      const found = text.match(pattern)?.length ?? 0;
      counts[name] = (counts[name] ?? 0) + found;
      if (found > 0 && shown === name) process.stdout.write(`${file}:${line}: ${text.trim()}\n`);
    }
  }
}
for (const [name, { count, instead }] of Object.entries(PHRASES)) {
  const now = counts[name] ?? 0;
  if (now === count) continue;
  process.stderr.write(
    now > count
      ? `"${name}" occurs ${now} times, ${now - count} more than before. Write: ${instead}. To find it: node checks/english.ts --show '${name}'\n`
      : `"${name}" occurs ${now} times, not ${count}. Write the new count into checks/english.ts.\n`,
  );
  process.exitCode = 1;
}

function* textsIn(file: string, source: string): Generator<readonly [line: number, text: string]> {
  const prose = file.endsWith('.md')
    ? source.replaceAll(/```.*?```/gs, (code) => code.replaceAll(/[^\n]/g, ''))
    : source;
  for (const [index, line] of prose.split('\n').entries()) {
    if (file.endsWith('.md')) {
      yield [index + 1, line];
      continue;
    }
    const comment = line.trimStart().startsWith('import') ? undefined : COMMENT.exec(line)?.[1];
    if (comment !== undefined) yield [index + 1, comment];
    for (const [, quoted, template] of line.matchAll(LONG_STRING)) {
      const text = quoted ?? template ?? '';
      if (text.includes(' ')) yield [index + 1, text];
    }
  }
}
