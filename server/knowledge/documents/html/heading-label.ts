const LABELS = new Set(
  (
    'note notes notice warning caution tip tips hint important attention danger info information remark ' +
    'hinweis hinweise warnung achtung vorsicht wichtig tipp tipps anmerkung anmerkungen gefahr ' +
    'remarque remarques avertissement astuce conseil nota aviso advertencia precaución atención consejo importante ' +
    'avvertenza attenzione suggerimento avviso dica observação atenção cuidado opmerking waarschuwing belangrijk ' +
    'uwaga ostrzeżenie wskazówka ważne obs varning viktigt merk advarsel viktig bemærk huomautus varoitus vinkki ' +
    'poznámka upozornění varování důležité megjegyzés figyelem примечание внимание важно предупреждение совет ' +
    'примітка увага not uyarı önemli ipucu 注意 注 备注 備註 提示 警告 重要 メモ ヒント 補足 참고 주의 경고'
  ).split(' '),
)
const MAX_LENGTH = 24

/**
 * Returns the label that a heading such as "Note" or "Warning!" gives to the following text, or null for a heading that
 * begins a section. A label does not end the section that contains it.
 */
export function headingLabel(heading: string): string | null {
  if (heading.length > MAX_LENGTH) return null
  const label = heading.replace(/[\s:：!！.¶#]+$/u, '')
  return LABELS.has(label.toLowerCase()) || /^let op$/i.test(label) ? label : null
}
