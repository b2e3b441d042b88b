// Additional critical styles of landing pages with a row of logos.
export { default as logos } from '#web/landing/logos.module.css';
