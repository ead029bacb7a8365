/** Every language but English, by its code: the files of `languages/`, as `.ci/build-web.mjs` lists them. */
declare module 'virtual:languages' {
  export const LANGUAGES: Record<string, () => Promise<{ texts: import('./languages/en.ts').Texts }>>
}

/** The emoji, and their names in other languages than English, as `.ci/emoji.mjs` packs them. */
declare module 'virtual:emoji' {
  export const EMOJI: () => Promise<{ default: string }>
  export const NAMES: Record<string, () => Promise<{ default: string }>>
}
