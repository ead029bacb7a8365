import type { BuiltPage } from './page.ts'

/** What `.ci/build-web.mjs` writes. */
export declare const PAGE: BuiltPage
