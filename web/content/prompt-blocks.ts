// Puts a label and a button that copies above each prompt of the article: a block that begins with three backticks and the word
// "prompt". Text selection is off in the article (specification, section 2), so the button is the way to take a prompt along.

type PromptBlocks = {
  readonly label: string;
  readonly copy: string;
  /** Called with the text of a prompt. */
  readonly onCopy: (text: string) => void;
};

/** Labels the prompts of an article. Where the page may not write to the clipboard, they get no button. */
export function labelPrompts(article: HTMLElement, { label, copy, onCopy }: PromptBlocks): void {
  for (const code of article.querySelectorAll('pre > code.language-prompt')) {
    const block = code.parentElement;
    if (block === null || block.parentElement?.localName === 'figure') continue;
    const figure = document.createElement('figure');
    const caption = document.createElement('figcaption');
    caption.append(label);
    // Only in a secure context.
    if ('clipboard' in navigator) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(copy);
      button.addEventListener('click', () => onCopy((code.textContent ?? '').trimEnd()));
      caption.append(button);
    }
    code.replaceChildren(...partsOf(code.textContent ?? ''));
    block.replaceWith(figure);
    figure.append(caption, block);
  }
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
