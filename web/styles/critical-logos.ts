// The styles that only the landing page of a campaign with a row of logos has in addition to those of critical.ts.
export { default as logos } from '#web/landing/logos.module.css';
