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

/** The parts of a code, or `undefined` if its language is unknown: it is never guessed. */
export function highlight(code: string, language: string): ElementContent[] | undefined {
  if (!lowlight.registered(language)) return undefined
  return lowlight.highlight(language, code).children as ElementContent[]
}
