export { default as logos } from '#web/landing/logos.module.css';
