export { default as envelope } from '#web/ui/envelope.module.css';
export { default as notFound } from '#web/not-found.module.css';
