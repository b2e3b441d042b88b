// Adds a label and a copy button to each prompt of the article (a code block of the language "prompt"). Text selection is off
// (specification, section 2); if copying fails, the prompt is selected instead.

const COPIED_WITHIN_MS = 500;

type PromptBlocks = {
  readonly label: string;
  readonly copy: string;
  readonly onCopy: (text: string, block: HTMLElement) => void;
};

export function labelPrompts(article: HTMLElement, { label, copy, onCopy }: PromptBlocks): void {
  for (const code of article.querySelectorAll('pre > code.language-prompt')) {
    const block = code.parentElement;
    if (block === null || block.parentElement?.localName === 'figure') continue;
    const figure = document.createElement('figure');
    const caption = document.createElement('figcaption');
    caption.append(label);
    const button = document.createElement('button');
    button.type = 'button';
    button.append(copy);
    button.addEventListener('click', () => onCopy((code.textContent ?? '').trimEnd(), block));
    caption.append(button);
    code.replaceChildren(...linesOf(code.textContent ?? ''));
    block.replaceWith(figure);
    figure.append(caption, block);
  }
}

export const SELECTABLE = 'data-selectable';

export const copyText = (text: string): Promise<void> =>
  Promise.race([
    Promise.resolve().then(() => navigator.clipboard.writeText(text)),
    new Promise<never>((_, reject) => setTimeout(reject, COPIED_WITHIN_MS)),
  ]);

export function selectBlock(block: HTMLElement): void {
  block.setAttribute(SELECTABLE, '');
  getSelection()?.selectAllChildren(block);
}

const linesOf = (text: string): HTMLElement[] =>
  text.split(/(?<=\n)(?=.)/s).map((line) => {
    const element = document.createElement('span');
    const [label = ''] = /^[^:\n]{1,24}:/.exec(line) ?? [];
    const strong = document.createElement('strong');
    strong.append(label);
    element.append(strong, line.slice(label.length));
    return element;
  });
