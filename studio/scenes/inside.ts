// Sets one section of the article in two pages.

declare global {
  /** The sections of the article that are shown, as HTML (open-scene.ts). */
  var sections: readonly string[];
}

const place = document.querySelector('.text');
const section = sections[Number(location.hash.slice(1)) - 1];
if (place === null || section === undefined) throw new Error('The article has no such section.');
// Every element of a list keeps its words together beside its number.
place.innerHTML = section.replaceAll(/<li>(.*?)<\/li>/gs, '<li><span>$1</span></li>');
document.documentElement.style.setProperty('--accent', campaign.accent);
