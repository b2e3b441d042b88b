export { default as questions } from '#web/landing/questions.module.css';
