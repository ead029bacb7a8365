import { useRef, useState } from 'preact/hooks'
import { docsTexts } from '../texts/settings.ts'
import { type CsrfNames, call, type Input, pathOf, type Result } from './call.ts'
import { ParameterField } from './parameter-field.tsx'
import { ResultView } from './result-view.tsx'
import type { Operation } from './types.ts'

interface TryItProps {
  operation: Operation
  base: string
  csrf: CsrfNames | undefined
}

/** A form that calls the endpoint, with the session of the browser. */
export function TryIt({ operation, base, csrf }: TryItProps) {
  const { method, parameters, requestBody } = operation
  const [values, setValues] = useState<Record<string, string>>({})
  const [body, setBody] = useState(() => exampleOf(operation))
  const [result, setResult] = useState<Result>()
  const [problem, setProblem] = useState<string>()
  const running = useRef<AbortController | undefined>(undefined)
  const [isRunning, setRunning] = useState(false)
  const input: Input = { parameters: values, body }

  async function send(): Promise<void> {
    setResult(undefined)
    setProblem(requestBody && !isJson(body) ? docsTexts.value.invalid : undefined)
    if (requestBody && !isJson(body)) return
    const stopping = new AbortController()
    const { signal } = stopping
    running.current = stopping
    setRunning(true)
    await call(base, operation, input, { csrf, signal, onText: setResult }).catch(() => {
      if (!signal.aborted) setProblem(docsTexts.value.unreachable)
    })
    setRunning(false)
  }

  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {parameters.map((each) => (
        <ParameterField
          key={each.name}
          parameter={each}
          value={values[each.name] ?? ''}
          onChange={(value) => setValues({ ...values, [each.name]: value })}
        />
      ))}
      {requestBody && (
        <label class="field">
          <span>{docsTexts.value.body}</span>
          <textarea
            class="code"
            rows={Math.min(16, body.split('\n').length + 1)}
            spellcheck={false}
            value={body}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </label>
      )}
      <code class="request">
        {method} {decodeURI(pathOf(operation, input))}
      </code>
      {method !== 'GET' && <p class="hint">{docsTexts.value.effect}</p>}
      <div class="buttons">
        <button type="submit" class="primary" disabled={isRunning}>
          {docsTexts.value.send}
        </button>
        {isRunning && (
          <button type="button" onClick={() => running.current?.abort()}>
            {docsTexts.value.stop}
          </button>
        )}
      </div>
      <div role="status">
        {problem !== undefined && <p class="error">{problem}</p>}
        {result && <ResultView result={result} />}
      </div>
    </form>
  )
}

function exampleOf({ requestBody }: Operation): string {
  const example = requestBody?.content['application/json']?.example
  return JSON.stringify(example ?? {}, undefined, 2)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
