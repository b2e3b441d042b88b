// The styles that only the 404 page has in addition to those of critical.ts.
export { default as envelope } from '#web/ui/envelope.module.css';
export { default as notFound } from '#web/not-found.module.css';
