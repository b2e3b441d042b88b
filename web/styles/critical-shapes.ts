export { default as guideCover } from '#web/guide/guide-cover.module.css';
export { default as shapes } from '#web/landing/shapes.module.css';
