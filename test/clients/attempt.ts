import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../lib/config/parse.ts'
import { openApiDocument } from '../../lib/http/openapi/build.ts'
import type { Client } from './clients.ts'
import { failureOf, hasProgram, UNAVAILABLE } from './programs.ts'

/**
 * Generates and compiles a client in a folder of its own, which is removed.
 *
 * @returns `undefined`, or why there is no working client; it begins with {@link UNAVAILABLE} if what makes it is not here
 */
export async function attempt({ needs, make }: Client): Promise<string | undefined> {
  const missing = needs.filter((program) => !hasProgram(program))
  if (missing.length > 0) return `${UNAVAILABLE}${missing.join(' and ')}`
  const home = await mkdtemp(join(tmpdir(), 'chat-clients-'))
  const [description, folder] = [join(home, 'openapi.json'), join(home, 'client')]
  try {
    await writeFile(description, JSON.stringify(openApiDocument(parseConfig())))
    await mkdir(folder)
    await make({ folder, description })
    return undefined
  } catch (error) {
    return failureOf(error)
  } finally {
    // Compiled Rust takes hundreds of megabytes.
    await rm(home, { recursive: true, force: true })
  }
}
