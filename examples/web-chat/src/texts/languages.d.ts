/** Every language but English, by its code: the files of `languages/`, as `.ci/build-web.mjs` lists them. */
declare module 'virtual:languages' {
  export const LANGUAGES: Record<string, () => Promise<{ texts: import('./languages/en.ts').Texts }>>
}
