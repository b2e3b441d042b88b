export { default as notFound } from '#web/not-found.module.css';
