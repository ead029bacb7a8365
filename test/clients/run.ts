/**
 * Generates clients from the OpenAPI description with common generators, compiles each, and has the Python one post, read a
 * thread and follow its stream.
 *
 * `npm run test:clients [-- name…]`. A client whose tools or packages cannot be had here is skipped in one line.
 * OPENAPI_GENERATOR_JAR names an openapi-generator that is there already; Maven fetches it otherwise.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../lib/config/parse.ts'
import { openApiDocument } from '../../lib/http/openapi/build.ts'
import { CLIENTS } from './clients.ts'
import { failureOf, hasProgram, UNAVAILABLE } from './programs.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !CLIENTS.some((client) => client.name === name))
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(', ')}; there are ${CLIENTS.map(({ name }) => name).join(', ')}`)

const folder = await mkdtemp(join(tmpdir(), 'chat-clients-'))
const description = join(folder, 'openapi.json')
await writeFile(description, JSON.stringify(openApiDocument(parseConfig())))

let [passed, failed, skipped] = [0, 0, 0]
try {
  for (const { name, needs, make } of CLIENTS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const missing = needs.filter((program) => !hasProgram(program))
    const result = missing.length > 0 ? `${UNAVAILABLE}${missing.join(' and ')}` : await attempt(name, make)
    if (result === undefined) passed++
    else if (result.startsWith(UNAVAILABLE)) skipped++
    else failed++
    console.log(
      result === undefined
        ? `✓ ${name}`
        : result.startsWith(UNAVAILABLE)
          ? `- ${name} ${result}`
          : `✗ ${name}\n${result}`,
    )
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0

/** @returns `undefined`, or why there is no working client */
async function attempt(name: string, make: (at: { folder: string; description: string }) => Promise<void>) {
  const place = join(folder, name.replaceAll(/[^a-z]+/g, '-'))
  await mkdir(place)
  try {
    await make({ folder: place, description })
    return undefined
  } catch (error) {
    return failureOf(error)
  } finally {
    // Compiled Rust takes hundreds of megabytes.
    await rm(place, { recursive: true, force: true })
  }
}
