// Additional critical styles of landing pages with questions and answers.
export { default as questions } from '#web/landing/questions.module.css';
