// Checks the built files against build/browsers.ts with MDN's data. Newer CSS needs a fallback declaration, @supports or a reason
// below; newer APIs need a feature test or a reason.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import data from '@mdn/browser-compat-data' with { type: 'json' };
import type { CompatStatement, Identifier, SimpleSupportStatement } from '@mdn/browser-compat-data';
import postcss, { type Container, type Declaration } from 'postcss';
import { parseAst, transformWithOxc } from 'vite';

import { BUILD_TARGET, SERVED_BROWSERS } from '#build/browsers.ts';
import { CAMPAIGN_FOLDER, PROJECT_FOLDER } from '#build/vite-config.ts';
import { distFolder, newestRelease } from '#server/http/releases.ts';

/** The page works without these. */
const MAY_BE_MISSING: Readonly<Record<string, string>> = {
  'text-wrap': 'lines break elsewhere',
  'text-wrap: balance': 'lines break elsewhere',
  'text-wrap: pretty': 'lines break elsewhere',
  'break-after: avoid': 'a heading may be printed at the bottom of a sheet',
  'cursor: pointer': 'a telephone has none',
  'cursor: default': 'a telephone has none',
  resize: 'a text area of the desk cannot be resized',
  'resize: vertical': 'the same',
  'accent-color': "check marks and bars get the system's colour",
  'forced-color-adjust': 'the legend of a chart shows only words',
  'forced-color-adjust: none': 'the same',
  'print-color-adjust': 'the reader chooses whether backgrounds are printed',
  'print-color-adjust: exact': 'the same',
  ':view-transition': 'stages change without a fade',
  ':view-transition-old': 'the same',
  ':view-transition-new': 'the same',
  ':-webkit-search-cancel-button': "a search field has the browser's cross, or none",
  ':selection': 'the digit in a box is marked while it is selected',
  globalPrivacyControl: 'a browser without it has no such preference',
  doNotTrack: 'the same',
  segment: 'an article without spaces shows a reading time that is too short',
};
/** Names that libraries or we use for our own members, and features with a test that this check does not recognise. */
const IN_LIBRARIES: Readonly<Record<string, string>> = {
  delay: 'the option of a scheduled task, and of a tooltip',
  fallback: 'of a Suspense boundary',
  marginLeft: 'of a computed style, which is not a CSSPageDescriptors',
  marginRight: 'of a computed style, which is not a CSSPageDescriptors',
  skipTransition: "React's view transitions, which we do not use",
  startViewTransition: "React's, which we do not use; web/use-stage.ts tests for it",
  currentEntry: 'React tests for navigation',
  downlink: 'React tests for navigator.connection',
  createContext: "React's, which is not navigator.ml's",
  createObjectURL: "of URL, supported everywhere; MDN's data has it under another name",
  revokeObjectURL: 'the same',
  build: "a function of the bundler's, which is not an MLGraphBuilder's",
  share: 'web/content/share-page.ts tests for it',
  sources: "of the desk's responses",
};

const BROWSERS = Object.entries(SERVED_BROWSERS).flatMap(([name, version]) => {
  const mobile = { chrome: 'chrome_android', firefox: 'firefox_android', safari: 'safari_ios' }[name];
  return [name, ...(mobile === undefined ? [] : [mobile])].map((browser) => ({ browser, version }));
});

const parts = (version: string): number[] => version.replace('≤', '').split('.').map(Number);
const isAtMost = (version: string, limit: string): boolean => {
  const [major = 0, minor = 0] = parts(version);
  const [limitMajor = 0, limitMinor = 0] = parts(limit);
  return major < limitMajor || (major === limitMajor && minor <= limitMinor);
};

function missingIn(compat: CompatStatement | undefined, names: readonly string[] = []): string[] {
  if (compat === undefined) return [];
  const knows = (one: SimpleSupportStatement, limit: string) =>
    typeof one.version_added === 'string' &&
    one.version_added !== 'preview' &&
    isAtMost(one.version_added, limit) &&
    one.version_removed === undefined &&
    one.flags === undefined &&
    (one.prefix === undefined || names.some((name) => name.startsWith(one.prefix ?? ''))) &&
    (one.alternative_name === undefined || names.includes(one.alternative_name));
  return BROWSERS.filter(({ browser, version }) => {
    const support = (compat.support as Readonly<Record<string, unknown>>)[browser];
    const statements = (Array.isArray(support) ? support : [support]) as (
      | SimpleSupportStatement
      | undefined
    )[];
    return !statements.some((one) => one !== undefined && knows(one, version));
  }).map(({ browser, version }) => `${browser} ${version}`);
}

function* entriesBelow(root: Identifier): Generator<readonly [name: string, compat: CompatStatement]> {
  for (const name of Object.keys(root)) {
    const entry = root[name];
    if (name === '__compat' || entry === undefined) continue;
    if (entry.__compat) yield [name, entry.__compat];
    yield* entriesBelow(entry);
  }
}

function indexOf(roots: readonly Identifier[]): ReadonlyMap<string, readonly CompatStatement[]> {
  const index = new Map<string, CompatStatement[]>();
  for (const root of roots)
    for (const [name, compat] of entriesBelow(root)) {
      const known = index.get(name);
      if (known) known.push(compat);
      else index.set(name, [compat]);
    }
  return index;
}

/** True if every API of this name is missing somewhere. If an older API has the same name, the check cannot decide. */
function missingEverywhere(
  meanings: readonly CompatStatement[] | undefined,
  names?: readonly string[],
): string[] {
  const missing = (meanings ?? []).map((compat) => missingIn(compat, names));
  return missing.every((browsers) => browsers.length > 0) ? (missing[0] ?? []) : [];
}

const { properties = {}, selectors = {}, types = {}, 'at-rules': atRules = {} } = data.css;
const FUNCTIONS = indexOf([types]);
const UNITS: Readonly<Record<string, string>> = { s: 'small', l: 'large', d: 'dynamic' };

/** @param names properties of the same rule, as possible fallbacks */
function missingInDeclaration(
  { prop, value }: Declaration,
  names: readonly string[],
): { feature: string; browsers: string[] }[] {
  const property = properties[prop];
  const words = value.replace(/url\([^)]*\)|"[^"]*"|'[^']*'/g, '');
  return [
    { feature: prop, browsers: missingIn(property?.__compat, names) },
    ...Array.from(words.matchAll(/(?<![\w-])([a-z][\w-]*)(\(?)/gi), ([, word = '', bracket]) => ({
      feature: bracket ? `${word}()` : `${prop}: ${word}`,
      browsers: property?.[word]?.__compat
        ? missingIn(property[word].__compat)
        : bracket
          ? missingEverywhere(FUNCTIONS.get(word))
          : [],
    })),
    ...Array.from(words.matchAll(/\d([sld])v(?:[whib]|min|max)\b/g), ([unit, size = '']) => {
      const { [`viewport_percentage_units_${UNITS[size]}`]: entry } = types['length'] ?? {};
      return { feature: unit.slice(1), browsers: missingIn(entry?.__compat) };
    }),
  ].filter(({ browsers }) => browsers.length > 0);
}

const describeMissing = (feature: string, where: string, browsers: readonly string[]): string[] =>
  browsers.length === 0 || feature in MAY_BE_MISSING || feature in IN_LIBRARIES
    ? []
    : [`${feature} (${where}): not in ${browsers.join(', ')}`];

function problemsInStyles(css: string): string[] {
  const problems: string[] = [];
  const visit = (container: Container): void => {
    const declarations = (container.nodes ?? []).filter((node) => node.type === 'decl');
    const names = declarations.map(({ prop }) => prop);
    for (const node of container.nodes ?? []) {
      if (node.type === 'atrule') {
        if (node.name === 'supports') continue;
        const rule = atRules[node.name];
        problems.push(...describeMissing(`@${node.name}`, node.params, missingIn(rule?.__compat)));
        if (node.name === 'media' && /[<>]/.test(node.params)) {
          const range = rule?.['range_syntax'];
          problems.push(...describeMissing('media ranges', node.params, missingIn(range?.__compat)));
        }
        visit(node);
      } else if (node.type === 'rule') {
        for (const [, name = ''] of node.selector.matchAll(/::?([a-z-]+)/g)) {
          const missing = missingIn(selectors[name]?.__compat);
          problems.push(...describeMissing(`:${name}`, node.selector, missing));
        }
        visit(node);
      } else if (node.type === 'decl') {
        const earlier = declarations.slice(0, declarations.indexOf(node));
        const hasPlain = earlier.some(
          (other) => other.prop === node.prop && missingInDeclaration(other, names).length === 0,
        );
        if (hasPlain) continue;
        for (const { feature, browsers } of missingInDeclaration(node, names))
          problems.push(...describeMissing(feature, `${node.prop}: ${node.value}`, browsers));
      }
    }
  };
  visit(postcss.parse(css));
  return problems;
}

type Tree = { readonly type: string } & Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && 'type' in value;

function walk(node: Tree, visit: (node: Tree) => void): void {
  visit(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isTree(child)) walk(child, visit);
}

const nameOf = (node: unknown): string | undefined => {
  if (!isTree(node)) return undefined;
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type === 'MemberExpression' && node['computed'] === false) return nameOf(node['property']);
  return node.type === 'ChainExpression' ? nameOf(node['expression']) : undefined;
};

const { builtins = {} } = data.javascript;
const MEMBERS = indexOf([data.api, builtins]);
const STYLES = /\{[\w-]+:[^{}]*\}/;

type Findings = { readonly styles: readonly string[]; readonly problems: readonly string[] };

function readScript(code: string): Findings {
  const used = new Set<string>();
  const own = new Set<string>();
  const styles: string[] = [];
  walk(parseAst(code) as unknown as Tree, (node) => {
    const add = (names: Set<string>, ...nodes: readonly unknown[]) => {
      for (const name of nodes.map(nameOf)) if (name !== undefined) names.add(name);
    };
    if (node.type === 'MemberExpression') {
      add(used, node['object'], node);
      if (node['optional']) add(own, node['object']);
    } else if (node.type === 'NewExpression' || node.type === 'CallExpression') {
      add(used, node['callee']);
      if (node['optional']) add(own, node['callee']);
    } else if (
      node.type === 'Property' ||
      node.type === 'PropertyDefinition' ||
      node.type === 'MethodDefinition'
    )
      add(own, node['key']);
    else if (node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration') add(own, node['id']);
    else if (node.type === 'AssignmentExpression') add(own, node['left']);
    else if (node.type === 'UnaryExpression') add(own, node['argument']);
    else if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') add(own, node['test']);
    else if (node.type === 'LogicalExpression') add(own, node['left']);
    else if (node.type === 'Literal' && typeof node['value'] === 'string') {
      own.add(node['value']);
      if (STYLES.test(node['value'])) styles.push(node['value']);
    } else if (node.type === 'TemplateElement') {
      const text = (node['value'] as { readonly cooked?: string }).cooked ?? '';
      own.add(text);
      if (STYLES.test(text)) styles.push(text);
    }
  });
  const problems = [...used]
    .filter((name) => !own.has(name))
    .flatMap((name) => describeMissing(name, 'script', missingEverywhere(MEMBERS.get(name))));
  return { styles, problems };
}

/** Finds syntax that a supported browser cannot parse: a compiler for these targets would rewrite it. */
async function problemsInSyntax(code: string, name: string): Promise<string[]> {
  const [compiled, unchanged] = await Promise.all(
    [[...BUILD_TARGET], 'esnext'].map((target) => transformWithOxc(code, 'script.js', { target })),
  );
  return compiled?.code === unchanged?.code
    ? []
    : [`${name} has syntax that is too new for ${BUILD_TARGET.join(', ')}.`];
}

async function problemsInScript(code: string, name: string): Promise<string[]> {
  const { styles, problems } = readScript(code);
  return [...(await problemsInSyntax(code, name)), ...problems, ...styles.flatMap(problemsInStyles)];
}

const release = newestRelease(distFolder(PROJECT_FOLDER, CAMPAIGN_FOLDER));
if (release === null) throw new Error('The site has not been built. Run "npm run build".');
const problems = new Set<string>();
for (const name of globSync('**/*.{html,js,css}', { cwd: release.folder })) {
  const text = readFileSync(path.join(release.folder, name), 'utf8');
  const ofType = (element: string) =>
    text.matchAll(new RegExp(`<${element}(?: data-app[^>]*)?>(.*?)</${element}>`, 'gs'));
  const found = name.endsWith('.js')
    ? [await problemsInScript(text, name)]
    : name.endsWith('.css')
      ? [problemsInStyles(text)]
      : await Promise.all([
          ...Array.from(ofType('style'), async ([, css = '']) => problemsInStyles(css)),
          ...Array.from(ofType('script'), ([, code = '']) => problemsInScript(code, name)),
        ]);
  for (const problem of found.flat()) problems.add(`${name}: ${problem}`);
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.size > 0) {
  process.stderr.write('See CONTRIBUTING.md for the supported browsers and how to fix this.\n');
  process.exit(1);
}
