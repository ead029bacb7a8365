declare module '*.css'
declare module '*.css?adopted'
