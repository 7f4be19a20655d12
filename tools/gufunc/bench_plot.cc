// SPDX-License-Identifier: Apache-2.0
#include "bench_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/utf8.h"

namespace gufunc::cli {
namespace {

// Pixels.
constexpr double kPanelWidth = 460, kPanelHeight = 330, kLonePanelWidth = 640;
constexpr double kLeft = 62, kRight = 18, kTop = 34, kBottom = 48;  // margins of a panel
constexpr double kHeader = 78;                                      // title and legend

// Colours of Okabe and Ito, which readers with colour vision deficiency can distinguish.
constexpr std::string_view kStyle = R"(<style>
text { font: 12px sans-serif; fill: #222 }
.title { font-size: 16px; font-weight: bold }
.panel { font-weight: bold }
.background { fill: #fff }
.grid { stroke: #ddd }
.frame { stroke: #666; fill: none }
polyline, .key { fill: none; stroke-width: 2 }
.gufunc { stroke: #0072b2 } circle.gufunc { fill: #0072b2 }
.copy { stroke: #666; stroke-dasharray: 6 4 } circle.copy { fill: #666; stroke-dasharray: none }
.numpy { stroke: #d55e00 } circle.numpy { fill: #d55e00 }
.numba { stroke: #009e73 } circle.numba { fill: #009e73 }
.torch { stroke: #cc79a7 } circle.torch { fill: #cc79a7 }
.cupy { stroke: #b58900 } circle.cupy { fill: #b58900 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd }
  .background { fill: #181818 }
  .grid { stroke: #3a3a3a }
  .frame { stroke: #999 }
  .gufunc { stroke: #56b4e9 } circle.gufunc { fill: #56b4e9 }
  .copy { stroke: #aaa } circle.copy { fill: #aaa }
  .numpy { stroke: #e69f00 } circle.numpy { fill: #e69f00 }
}
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : base::printable(text)) {  // XML forbids control characters
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// The logarithmic axis of a panel.
struct Axis {
  double least = 1, most = 10;  // values at the ends
  double begin = 0, end = 1;    // their pixels

  double pixel(double value) const {
    const double part = std::log(value / least) / std::log(most / least);
    return begin + part * (end - begin);
  }
  // Returns at least two numbers: the powers of ten, or 1, 2 and 5 times these if there are fewer
  // than two of them, or else multiples of the largest step that has two multiples on the axis.
  std::vector<double> ticks() const {
    std::vector<double> powers, all;
    const int first = static_cast<int>(std::floor(std::log10(least)));
    for (int power = first; std::pow(10, power) <= most * 1.001; ++power) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = factor * std::pow(10, power);
        if (tick < least * 0.999 || tick > most * 1.001) continue;
        all.push_back(tick);
        if (factor == 1) powers.push_back(tick);
      }
    }
    if (powers.size() >= 2) return powers;
    for (int power = first; all.size() < 2; --power) {
      for (const double factor : {5.0, 2.0, 1.0}) {
        if (all.size() < 2) all = multiples_of(factor * std::pow(10, power));
      }
    }
    return all;
  }

 private:
  std::vector<double> multiples_of(double step) const {
    std::vector<double> multiples;
    for (double i = std::ceil(least / step); i * step <= most; ++i) multiples.push_back(i * step);
    return multiples;
  }
};

// Returns "0.01", "100", "1e6", "1.5e6".
std::string tick_text(double value) {
  if (value >= 0.001 && value < 10000) return fmt::format("{:g}", value);
  const double power = std::floor(std::log10(value * (1 + 1e-9)));
  return fmt::format("{:g}e{}", value / std::pow(10, power), power);
}

// The line of one library in a panel: pairs of the number of elements and y.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Panel {
  std::string title;
  std::vector<Series> lines;
};

std::string title_of(const BenchCase &row) {
  const std::string threads = threads_text(row.threads);
  return fmt::format("{}{}, {}, {}{}{}", row.method == "call" ? "" : row.method + ", ",
                     guf_dtype_name(row.dtype), row.layout, row.device, threads.empty() ? "" : ", ",
                     threads);
}

std::vector<Panel> panels_of(const BenchReport &report, bool plots_time) {
  std::vector<Panel> panels;
  for (const BenchRow &row : report.rows) {
    const std::string title = title_of(row.what);
    auto panel = std::find_if(panels.begin(), panels.end(),
                              [&](const Panel &known) { return known.title == title; });
    if (panel == panels.end()) panel = panels.insert(panels.end(), {title, {}});
    for (const BenchTime &time : row.times) {
      if (!time.measured()) continue;
      auto line = std::find_if(panel->lines.begin(), panel->lines.end(),
                               [&](const Series &known) { return known.name == time.name; });
      if (line == panel->lines.end())
        line = panel->lines.insert(panel->lines.end(), {time.name, {}});
      line->points.emplace_back(static_cast<double>(row.elements),
                                plots_time ? row.ns_per_element(time) : time.gb_per_s());
    }
  }
  for (Panel &panel : panels) {
    for (Series &line : panel.lines) std::sort(line.points.begin(), line.points.end());
  }
  return panels;
}

// Returns the range of the values, which are positive, widened by a factor.
std::pair<double, double> range_of(const Panel &panel, bool vertical) {
  double least = HUGE_VAL, most = 0;
  for (const Series &line : panel.lines) {
    for (const auto &[x, y] : line.points) {
      least = std::min(least, vertical ? y : x);
      most = std::max(most, vertical ? y : x);
    }
  }
  const double margin = vertical || least == most ? 1.5 : 1.15;
  return {least / margin, most * margin};
}

void draw_axes(const Panel &panel, const Axis &x, const Axis &y, const std::string &unit,
               std::string *svg) {
  for (const double tick : x.ticks()) {
    *svg += fmt::format(
        "<line class='grid' x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/>"
        "<text x='{0:.1f}' y='{3}' text-anchor='middle'>{4}</text>\n",
        x.pixel(tick), y.begin, y.end, y.begin + 16, tick_text(tick));
  }
  for (const double tick : y.ticks()) {
    *svg += fmt::format(
        "<line class='grid' x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}'/>"
        "<text x='{3}' y='{4:.1f}' text-anchor='end'>{5}</text>\n",
        x.begin, x.end, y.pixel(tick), x.begin - 6, y.pixel(tick) + 4, tick_text(tick));
  }
  *svg += fmt::format("<rect class='frame' x='{}' y='{}' width='{}' height='{}'/>\n", x.begin,
                      y.end, x.end - x.begin, y.begin - y.end);
  *svg += fmt::format("<text class='panel' x='{}' y='{}'>{}</text>\n", x.begin, y.end - 10,
                      escaped(panel.title));
  const double middle_x = (x.begin + x.end) / 2, middle_y = (y.begin + y.end) / 2;
  *svg += fmt::format("<text x='{}' y='{}' text-anchor='middle'>elements</text>\n", middle_x,
                      y.begin + 36);
  *svg += fmt::format(
      "<text x='{0}' y='{1}' text-anchor='middle' "
      "transform='rotate(-90 {0} {1})'>{2}</text>\n",
      x.begin - 46, middle_y, unit);
}

void draw_panel(const Panel &panel, double left, double top, double width, const std::string &unit,
                std::string *svg) {
  const auto [x_least, x_most] = range_of(panel, false);
  const auto [y_least, y_most] = range_of(panel, true);
  const Axis x = {x_least, x_most, left + kLeft, left + width - kRight};
  const Axis y = {y_least, y_most, top + kPanelHeight - kBottom, top + kTop};
  draw_axes(panel, x, y, unit, svg);
  for (const Series &line : panel.lines) {
    std::string points, circles;
    for (const auto &[at, value] : line.points) {
      points +=
          fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x.pixel(at), y.pixel(value));
      circles += fmt::format("<circle class='{}' cx='{:.1f}' cy='{:.1f}' r='2.5'/>", line.name,
                             x.pixel(at), y.pixel(value));
    }
    *svg += fmt::format("<polyline class='{}' points='{}'/>{}\n", line.name, points, circles);
  }
}

// Draws one entry for each line that some panel has.
void draw_legend(const std::vector<Panel> &panels, std::string *svg) {
  double left = 20;
  for (const char *const name : {"gufunc", "copy", "numpy", "numba", "torch", "cupy"}) {
    const bool drawn = std::any_of(panels.begin(), panels.end(), [&](const Panel &panel) {
      return std::any_of(panel.lines.begin(), panel.lines.end(),
                         [&](const Series &line) { return line.name == name; });
    });
    if (!drawn) continue;
    const std::string_view text =
        name == std::string_view("copy") ? "copy (memory roofline)" : name;
    *svg += fmt::format(
        "<line class='key {0}' x1='{1}' x2='{2}' y1='62' y2='62'/>"
        "<text x='{3}' y='66'>{4}</text>\n",
        name, left, left + 28, left + 34, text);
    left += 34 + 7 * static_cast<double>(text.size()) + 16;
  }
}

}  // namespace

std::string plot_svg(const BenchReport &report, bool plots_time) {
  const std::vector<Panel> panels = panels_of(report, plots_time);
  const size_t columns = panels.size() < 2 ? 1 : 2;
  const size_t lines = (panels.size() + columns - 1) / columns;
  const double panel_width = columns == 1 ? kLonePanelWidth : kPanelWidth;
  const double width = panel_width * static_cast<double>(columns);
  const double height = kHeader + kPanelHeight * static_cast<double>(lines);
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
      "role='img'>\n<title>gufunc bench {2}</title>\n",
      width, height, escaped(report.function));
  svg += kStyle;
  svg += fmt::format("<rect class='background' width='{}' height='{}'/>\n", width, height);
  svg += fmt::format("<text class='title' x='20' y='24'>{}</text>\n", escaped(report.function));
  svg += fmt::format("<text x='20' y='44'>{}</text>\n", escaped(machine_text(report)));
  draw_legend(panels, &svg);
  const std::string unit = plots_time ? "ns per element" : "GB/s";
  for (size_t i = 0; i < panels.size(); ++i) {
    const size_t row = i / columns, column = i % columns;
    draw_panel(panels[i], panel_width * static_cast<double>(column),
               kHeader + kPanelHeight * static_cast<double>(row), panel_width, unit, &svg);
  }
  return svg + "</svg>\n";
}

}  // namespace gufunc::cli
