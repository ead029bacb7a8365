import { useId } from 'preact/hooks'
import { docsTexts } from '../texts/settings.ts'
import { codeIn } from './prose.tsx'
import type { Parameter } from './types.ts'

/** An input for a parameter, with what it is for. */
export function ParameterField({
  parameter: { name, required = false, description, schema, in: place },
  value,
  onChange,
}: {
  parameter: Parameter
  value: string
  onChange: (value: string) => void
}) {
  const id = useId()
  const shared = { id, required: required && place === 'path', value }
  const placeholder = schema.default === undefined ? undefined : String(schema.default)
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> {shared.required && <span class="tag">{docsTexts.value.required}</span>}
      </label>
      {schema.enum ? (
        <select {...shared} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="" />
          {schema.enum.map((each) => (
            <option key={String(each)}>{String(each)}</option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {description && <small class="hint">{codeIn(description)}</small>}
    </div>
  )
}
