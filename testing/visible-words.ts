// Finds visible words in the code that belong in campaign/. Reads the syntax tree: comments, types, class names and styles do
// not count.
import { parseSync } from 'vite';

const READ_ATTRIBUTES = new Set(
  ['description', 'label', 'placeholder', 'roledescription', 'valuetext']
    .map((name) => `aria-${name}`)
    .concat('alt', 'label', 'placeholder', 'text', 'title'),
);
/** Properties with visible words, such as those of toasts and errors. */
const READ_PROPERTIES = new Set(['description', 'label', 'message', 'sentence', 'text', 'title']);
/** Properties with internal names, such as reducer events. */
const NAMING_PROPERTIES = new Set(['type', '@type']);
const COMPARISONS = new Set(['===', '!==', 'in', 'instanceof']);

const VALUE = '\0';
const WORD = String.raw`(?:\p{L}{2,}|${VALUE}(?!\p{L}))`;
/** Matches two words in a row, or one that begins like a sentence. */
const LIKE_WORDS = new RegExp(
  String.raw`\p{L}{2,}[,.;:!?]?\s+${WORD}|${VALUE}\s+\p{L}{2,}|^\s*\p{Lu}\p{Ll}+[.!?…]*\s*$`,
  'u',
);
const LETTERS = /\p{L}/u;

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

function textOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : null;
  if (node.type !== 'TemplateLiteral') return null;
  const parts = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
  return parts.map((part) => part.value.cooked).join(VALUE);
}

function resultsOf(node: Node): Node[] {
  switch (node.type) {
    case 'ConditionalExpression':
      return [node['consequent'], node['alternate']].filter(isNode).flatMap(resultsOf);
    case 'LogicalExpression':
    case 'BinaryExpression':
      if (COMPARISONS.has(String(node['operator']))) return [];
      return [node['left'], node['right']].filter(isNode).flatMap(resultsOf);
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'JSXExpressionContainer':
      return [node['expression']].filter(isNode).flatMap(resultsOf);
    default:
      return [node];
  }
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return '';
  const name = node['name'] ?? node['value'];
  return typeof name === 'string' ? name : '';
};

/**
 * @param file its extension determines the language
 * @returns texts with their lines, from 1
 */
export function visibleWords(file: string, code: string): { line: number; text: string }[] {
  const found = new Map<number, string>();
  const report = (node: Node, text: string) => {
    const shown = text.replace(/<[^>]*>/g, ' ');
    if (LETTERS.test(shown)) found.set(node.start, shown.replaceAll(VALUE, '{}').replace(/\s+/g, ' ').trim());
  };
  const reportResults = (value: unknown) => {
    if (!isNode(value)) return;
    for (const result of resultsOf(value)) report(result, textOf(result) ?? '');
  };

  const walk = (node: Node): void => {
    const text = textOf(node);
    if (text !== null && LIKE_WORDS.test(text.replace(/<[^>]*>/g, ' '))) report(node, text);
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ImportExpression':
      case 'ThrowStatement':
        return;
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        if (node['source']) return;
        break;
      case 'BinaryExpression':
        if (COMPARISONS.has(String(node['operator']))) return;
        break;
      case 'SwitchCase':
        for (const child of node['consequent'] as Node[]) walk(child);
        return;
      case 'JSXText':
        report(node, String(node['value']));
        return;
      case 'JSXElement':
      case 'JSXFragment':
        for (const child of node['children'] as Node[])
          if (child.type === 'JSXExpressionContainer') reportResults(child);
        break;
      case 'JSXAttribute': {
        const value = node['value'];
        if (READ_ATTRIBUTES.has(nameOf(node['name']))) reportResults(value);
        else if (isNode(value) && value.type === 'Literal') return;
        break;
      }
      case 'Property': {
        const key = nameOf(node['key']);
        if (READ_PROPERTIES.has(key)) reportResults(node['value']);
        if (NAMING_PROPERTIES.has(key)) return;
        break;
      }
      default:
        if (/^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)/.test(node.type)) return;
    }
    for (const child of childrenOf(node)) walk(child);
  };

  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  walk(program as unknown as Node);
  return Array.from(found, ([start, text]) => ({ line: code.slice(0, start).split('\n').length, text }));
}
