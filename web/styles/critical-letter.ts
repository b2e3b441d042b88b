export { default as letter } from '#web/landing/letter.module.css';
