// The styles that only some campaigns need in addition to those of critical.ts, because of what their landing page has more
// or fewer of: pictures, cards.
export { default as guideCover } from '#web/guide/guide-cover.module.css';
export { default as shapes } from '#web/landing/shapes.module.css';
