import { docsTexts } from '../texts/settings.ts'
import type { Result } from './call.ts'

/** What an endpoint has answered. */
export function ResultView({ result: { status, ms, headers, text } }: { result: Result }) {
  return (
    <div class="result" data-failed={status >= 400}>
      <p>
        <strong>{docsTexts.value.took(status, ms)}</strong>
      </p>
      <details>
        <summary>{docsTexts.value.headers}</summary>
        <ul>
          {headers.map(([name, value]) => (
            <li key={name}>
              <code>
                {name}: {value}
              </code>
            </li>
          ))}
        </ul>
      </details>
      {text === '' ? (
        <p class="quiet">{docsTexts.value.empty}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for the keyboard.
        <pre tabIndex={0}>{text}</pre>
      )}
    </div>
  )
}
