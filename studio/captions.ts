// What the film says. It has no sound, so the captions are its narration.

export type Caption = {
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  readonly text: readonly string[];
};

export const captions: readonly Caption[] = [
  { from: 0.4, to: 3.6, text: ['How a cold email earns a reply,', 'in three moves.'] },
  { from: 4.2, to: 7.6, text: ['First, structure your intelligence:', 'five short knowledge bases.'] },
  {
    from: 7.7,
    to: 12.3,
    text: ['Customer, offer, proof, market, voice:', 'what your team knows, in writing.'],
  },
  { from: 12.4, to: 17.2, text: ['They feed a prompt with five steps,', 'from context to target outcome.'] },
  { from: 17.8, to: 20.4, text: ['Second, apply psychological drivers', 'to your buyer personas.'] },
  { from: 20.5, to: 24.0, text: ['It is always the same offer,', 'turned to what moves each reader:'] },
  { from: 24.1, to: 27.1, text: ['action, ambition, evidence', 'or people.'] },
  { from: 27.6, to: 30.0, text: ['Third, optimise deliverability: set up', 'SPF, DKIM and DMARC,'] },
  { from: 30.1, to: 32.5, text: ['then warm the domain', 'over four weeks.'] },
  { from: 33.0, to: 35.3, text: ['Measure replies, and change', 'one part at a time:'] },
  { from: 35.4, to: 38.1, text: ['here from a 3.2% reply rate to 11.4%,', 'and ROI from 4:1 to 9.7:1.'] },
  { from: 38.7, to: 41.4, text: ['The method is in the guide, for free:', 'press Get Your Free Copy.'] },
];
