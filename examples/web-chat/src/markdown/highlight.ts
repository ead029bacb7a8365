// Finds the colors of code, as a worker: what takes too long is ended with it, and the page responds meanwhile.
import type { ElementContent } from 'hast'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

const LANGUAGES = {
  ...{ bash, cpp, csharp, css, diff, go, java, javascript, json, markdown, php },
  ...{ python, ruby, rust, sql, typescript, xml, yaml },
}
const lowlight = createLowlight(LANGUAGES)
// Besides the aliases that the grammars have.
lowlight.registerAlias({ cpp: ['c', 'h'], bash: ['shell', 'console'] })

/** More parts are not shown in colors: each is an element of the page. */
const MAX_PARTS = 3000

/** What TypeScript has no types of beside those of a page. */
const worker = self as unknown as {
  postMessage(message: unknown): void
  addEventListener(type: 'message', listener: (event: MessageEvent<{ text: string; language: string }>) => void): void
}

worker.addEventListener('message', ({ data: { text, language } }) => worker.postMessage(highlight(text, language)))
worker.postMessage('ready')

/** The parts of a code, or `undefined` if its language is unknown: it is never guessed. */
function highlight(code: string, language: string): ElementContent[] | undefined {
  if (!lowlight.registered(language)) return undefined
  const parts = lowlight.highlight(language, code).children as ElementContent[]
  return countOf(parts) > MAX_PARTS ? undefined : parts
}

function countOf(parts: readonly ElementContent[]): number {
  return parts.reduce((sum, part) => sum + 1 + (part.type === 'element' ? countOf(part.children) : 0), 0)
}
