mod machine;
mod scope;
