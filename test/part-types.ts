import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** What `tsc` compiles of packages of their own, together: each of them needs most of this one. All paths are absolute. */
export function typesConfig(folders: string[]) {
  return {
    extends: join(ROOT, 'test/tsconfig.json'),
    compilerOptions: { rootDir: ROOT, typeRoots: [join(ROOT, 'node_modules/@types')] },
    include: [...folders, 'test/support'].map((folder) => join(ROOT, folder)),
    // Compiled with the types that are made of the OpenAPI document (`test/tools/openapi.test.ts`).
    exclude: ['**/node_modules', 'test/tools/happy-path.ts'].map((path) => join(ROOT, path)),
  }
}
