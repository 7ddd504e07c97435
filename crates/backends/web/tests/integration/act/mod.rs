//! Input reaches its target, and the page confirms this.

mod clipboard;
mod covers;
mod fields;
mod files;
mod guard;
mod guarded_text;
mod keyboard;
mod lists;
mod moving;
mod pictures;
mod press;

/// The start of a page that logs which element each click reached.
const LOG: &str = "<!doctype html><meta charset=utf-8><script>log=[];
    addEventListener('click',e=>log.push('click '+(e.target.id||e.target.tagName)+' '+e.isTrusted),true)</script>";
