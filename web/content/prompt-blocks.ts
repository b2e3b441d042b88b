// Puts a label and a button that copies above each prompt of the article: a block that begins with three backticks and the word
// "prompt". Text selection is off in the article (specification, section 2), so the button is the way to take a prompt along; a browser
// that will not copy gets the prompt selected.

const COPIED_WITHIN_MS = 500;

type PromptBlocks = {
  readonly label: string;
  readonly copy: string;
  /** Called with the text of a prompt, and the block that shows it. */
  readonly onCopy: (text: string, block: HTMLElement) => void;
};

/** Labels the prompts of an article. */
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
    code.replaceChildren(...partsOf(code.textContent ?? ''));
    block.replaceWith(figure);
    figure.append(caption, block);
  }
}

/** Marks a part of the article that may be selected after all. */
export const SELECTABLE = 'data-selectable';

/** Copies a text; fails where the browser has no clipboard, does not allow it, or does not answer. */
export const copyText = (text: string): Promise<void> =>
  Promise.race([
    // Only in a secure context.
    Promise.resolve().then(() => navigator.clipboard.writeText(text)),
    new Promise<never>((_, reject) => setTimeout(reject, COPIED_WITHIN_MS)),
  ]);

/** Selects a prompt, for the visitor to copy. */
export function selectBlock(block: HTMLElement): void {
  block.setAttribute(SELECTABLE, '');
  getSelection()?.selectAllChildren(block);
}

/** Each line of a prompt as an element, with its label, such as "Role:", set apart. The text stays the same. */
const partsOf = (text: string): HTMLElement[] =>
  text.split(/(?<=\n)(?=.)/s).map((line) => {
    const part = document.createElement('span');
    const [label = ''] = /^[^:\n]{1,24}:/.exec(line) ?? [];
    const name = document.createElement('strong');
    name.append(label);
    part.append(name, line.slice(label.length));
    return part;
  });
