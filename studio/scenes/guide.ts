// Fills in the campaign's words and colours, and draws the strands of the guide's cover: they come from the spine, gather, and
// end in the mark.

/** What the pictures show of the campaign (open-scene.ts). */
type DrawnCampaign = {
  readonly title: string;
  readonly badge: string;
  readonly button: string;
  readonly chapters: readonly string[];
  readonly accent: string;
  readonly plate: string;
};

declare global {
  var campaign: DrawnCampaign;
}

const { style } = document.documentElement;
style.setProperty('--accent', campaign.accent);
style.setProperty('--plate', campaign.plate);

function fillIn(name: string, text: string): void {
  for (const place of document.querySelectorAll(`[data-words=${name}]`)) {
    // A word with a hyphen stays in one line.
    const words = document.createElement('span');
    for (const word of text.split(' ')) {
      const whole = document.createElement('span');
      whole.textContent = word;
      words.append(whole, ' ');
    }
    place.replaceChildren(words);
  }
}
fillIn('title', campaign.title);
fillIn('badge', campaign.badge);
fillIn('button', campaign.button);

for (const contents of document.querySelectorAll('.contents ol')) {
  contents.replaceChildren(
    ...campaign.chapters.map((chapter, index) => {
      const line = document.createElement('li');
      const number = document.createElement('span');
      number.className = 'number';
      number.textContent = String(index + 1);
      const name = document.createElement('span');
      name.textContent = chapter;
      line.append(number, name);
      return line;
    }),
  );
}

/** Five groups of five, as in the hero: from the spine they come together, and run level to the mark. */
const strands = Array.from({ length: 25 }, (_, index) => {
  const group = Math.floor(index / 5) - 2;
  const far = 296 + group * 34 + ((index % 5) - 2) * 4.6;
  const near = 353 + (index - 12) * 1.15;
  return `<path d="M19 ${far}C90 ${far} 96 ${near} 176 ${near}H226" />`;
}).join('');
for (const place of document.querySelectorAll('.cover .strands')) place.innerHTML = strands;
