// The styles that only the landing page of a campaign with questions and answers has in addition to those of critical.ts.
export { default as questions } from '#web/landing/questions.module.css';
