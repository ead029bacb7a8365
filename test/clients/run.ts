/**
 * Generates clients from the OpenAPI description with common generators, compiles each, and has the Python one post, read a
 * thread and follow its stream.
 *
 * `npm run test:clients [-- name…]`. A client whose tools or packages cannot be had here is skipped in one line.
 * OPENAPI_GENERATOR_JAR names an openapi-generator that is there already; Maven fetches it otherwise.
 */
import { attempt } from './attempt.ts'
import { CLIENTS } from './clients.ts'
import { UNAVAILABLE } from './programs.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !CLIENTS.some((client) => client.name === name))
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(', ')}; there are ${CLIENTS.map(({ name }) => name).join(', ')}`)

let [passed, failed, skipped] = [0, 0, 0]
for (const client of CLIENTS) {
  if (wanted.length > 0 && !wanted.includes(client.name)) continue
  const result = await attempt(client)
  if (result === undefined) passed++
  else if (result.startsWith(UNAVAILABLE)) skipped++
  else failed++
  console.log(
    result === undefined
      ? `✓ ${client.name}`
      : result.startsWith(UNAVAILABLE)
        ? `- ${client.name} ${result}`
        : `✗ ${client.name}\n${result}`,
  )
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0
